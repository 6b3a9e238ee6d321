package filch

// testWorker returns a worker of p that is in none of its lists.
func testWorker(p *Pool, id int) *Worker {
	w := newWorker(p)
	w.engine.init(&p.engine, id)
	return w
}

// engines returns workers as the engine lists them.
func engines(ws ...*Worker) *[]*engineWorker {
	var all []*engineWorker
	for _, w := range ws {
		all = append(all, &w.engine)
	}
	return &all
}
