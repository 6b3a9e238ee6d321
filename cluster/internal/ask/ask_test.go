package ask

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// within is how long questions wait for an answer.
const within = 10 * time.Second

var errEnd = errors.New("the end")

// opened returns Questions with one that is open, and what it was answered with.
func opened() (a *Questions, answers chan error) {
	answers = make(chan error, 8)
	a = &Questions{open: map[uint64]question{1: {time.Now(), func(_ []byte, err error) { answers <- err }}}}
	return a, answers
}

func TestAQuestionEndsOnce(t *testing.T) {
	a, answers := opened()
	a.end(1, nil, nil)
	a.end(1, nil, ErrNoAnswer)
	a.close(errEnd)
	if err := <-answers; err != nil || len(answers) != 0 {
		t.Error(err, len(answers))
	}
}

func TestAQuestionWithoutAnAnswerEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, answers := opened()
		begin := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		go a.Run(ctx, within)
		time.Sleep(within)
		synctest.Wait()
		if len(answers) != 0 {
			t.Errorf("it ended after %v: %v", time.Since(begin), <-answers)
		}
		time.Sleep(within / 4)
		synctest.Wait()
		if len(answers) != 1 || <-answers != ErrNoAnswer {
			t.Error("it did not end, or with another error")
		}
		cancel()
	})
}

func TestQuestionsEndWithTheNode(t *testing.T) {
	a, answers := opened()
	a.close(errEnd)
	a.Ask(nil, func(_ []byte, err error) { answers <- err })
	if len(answers) != 2 {
		t.Fatal(len(answers), "answers")
	}
	for range 2 {
		if err := <-answers; err != errEnd {
			t.Error("<-answers:", err)
		}
	}
}
