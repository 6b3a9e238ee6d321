package filch

// Room returns how many more tasks the queue can hold.
func (p *Pool) Room() int64 { return p.room.limit - int64(p.room.word.Load()&maxRoom) }

func (q *taskQueue) push(priority int, t task) bool { return q.pushAt(priority, 0, t) }
