package sim

// localized is child stealing in which a worker that has run out of work first steals back: from the workers that
// stole from it, and only then from a random one.
//
// After Suksompong, Leiserson and Schardl, "On the efficiency of localized work stealing" (Information Processing
// Letters, 2016). There each worker has work of its own, and a free worker makes attempts to get back its own
// work; T is T1/P + O(Tinf*P) expected, and T1/P + O(Tinf*log P) if the free workers are spread evenly.
//
// Here a worker's own work is what others have stolen from it and what that has spawned. All that a thief has
// in its deque comes from its last steal, since it had nothing before. So a thief stands in one list, its last
// victim's, and moves when it steals from another. A worker asks one of its list at random. One that has
// nothing leaves the list, since what it may still run cannot be stolen; so lists empty, and random attempts
// follow. What a worker steals back is its own: it stays in the list in which it was.
type localized struct {
	stealing
	robbers [][]int32 // by victim: the thieves in its list
	robbed  []int32   // by thief: in whose list it is, plus 1, or 0
	at      []int32   // by thief: its place there
}

func newLocalized(m *machine) (scheduler, error) {
	return &localized{
		stealing: stealing{raids: newRaids(m), parentFirst: true},
		robbers:  make([][]int32, m.Workers),
		robbed:   make([]int32, m.Workers),
		at:       make([]int32, m.Workers),
	}, nil
}

func (s *localized) seek(w int32) (ID, int64) { return s.look(w, s) }

func (s *localized) victim(w int32) int32 {
	if r := s.robbers[w]; len(r) > 0 {
		return r[s.below(len(r))]
	}
	return s.other(w)
}

func (s *localized) take(w, v int32) ID {
	found := s.steal(v)
	if found == None && len(s.robbers[w]) == 0 {
		return None
	}
	own := s.robbed[v] == w+1
	switch {
	case own && found == None:
		s.leave(v)
	case !own && found != None:
		s.leave(w)
		s.enter(w, v)
	}
	return found
}

// enter puts thief w into the list of v.
func (s *localized) enter(w, v int32) {
	s.robbed[w], s.at[w] = v+1, int32(len(s.robbers[v]))
	s.robbers[v] = append(s.robbers[v], w)
}

// leave takes thief w out of the list that it is in, if there is one.
func (s *localized) leave(w int32) {
	if s.robbed[w] == 0 {
		return
	}
	list := &s.robbers[s.robbed[w]-1]
	last := len(*list) - 1
	moved := (*list)[last]
	(*list)[s.at[w]], s.at[moved] = moved, s.at[w]
	*list = (*list)[:last]
	s.robbed[w] = 0
}
