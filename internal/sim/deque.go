package sim

// deque is the queue of one worker: its owner at the bottom, thieves at the top. The zero deque is empty.
type deque struct {
	ids  []ID // a circle, its length 0 or a power of two
	top  int32
	size int32
}

func (d *deque) push(id ID) {
	if int(d.size) == len(d.ids) {
		d.grow()
	}
	d.ids[int(d.top+d.size)&(len(d.ids)-1)] = id
	d.size++
}

// pop removes the newest.
func (d *deque) pop() ID {
	if d.size == 0 {
		return None
	}
	d.size--
	return d.ids[int(d.top+d.size)&(len(d.ids)-1)]
}

// steal removes the oldest.
func (d *deque) steal() ID {
	if d.size == 0 {
		return None
	}
	id := d.ids[d.top]
	d.top = (d.top + 1) & int32(len(d.ids)-1)
	d.size--
	return id
}

// at returns the thread at place i, the oldest at 0.
func (d *deque) at(i int) ID { return d.ids[(int(d.top)+i)&(len(d.ids)-1)] }

// keep removes all but those that are to stay.
func (d *deque) keep(stays func(ID) bool) {
	n := d.size
	for range n {
		if id := d.steal(); stays(id) {
			d.push(id)
		}
	}
}

// oldest returns what steal would. There must be one.
func (d *deque) oldest() ID { return d.ids[d.top] }

func (d *deque) grow() {
	ids := make([]ID, max(4, 2*len(d.ids)))
	for i := range d.size {
		ids[i] = d.ids[int(d.top+i)&(len(d.ids)-1)]
	}
	d.ids, d.top = ids, 0
}
