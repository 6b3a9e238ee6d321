package filch

// InQueue returns how many tasks have room in the queue.
func (p *Pool) InQueue() int64 { return p.tasks.Room.Taken() }
