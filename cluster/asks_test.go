package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// opened returns asks with one open question, and what it was answered with.
func opened() (a *asks, answers chan error) {
	answers = make(chan error, 8)
	a = &asks{open: map[uint64]ask{1: {time.Now(), func(_ []byte, err error) { answers <- err }}}}
	return a, answers
}

func TestAQuestionEndsOnce(t *testing.T) {
	a, answers := opened()
	a.end(1, nil, nil)
	a.end(1, nil, errNoAnswer)
	a.close()
	if err := <-answers; err != nil || len(answers) != 0 {
		t.Error(err, len(answers))
	}
}

func TestAQuestionWithoutAnAnswerEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, answers := opened()
		begin := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		go a.run(ctx, serverWait)
		time.Sleep(serverWait)
		synctest.Wait()
		if len(answers) != 0 {
			t.Errorf("it ended after %v: %v", time.Since(begin), <-answers)
		}
		time.Sleep(serverWait / 4)
		synctest.Wait()
		if len(answers) != 1 || <-answers != errNoAnswer {
			t.Error("it did not end, or with another error")
		}
		cancel()
	})
}

func TestQuestionsEndWithTheNode(t *testing.T) {
	a, answers := opened()
	a.close()
	a.ask(nil, func(_ []byte, err error) { answers <- err })
	if len(answers) != 2 {
		t.Fatal(len(answers), "answers")
	}
	for range 2 {
		if err := <-answers; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

func TestOnlyAPlainConfirmationIsStored(t *testing.T) {
	for answer, want := range map[string]bool{
		`{"stream":"KV_filch_results","seq":7}`: true,
		`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 1"},"stream":"x","seq":0}`: false,
		`{"error":{"code":503,"err_code":10077}}`:                                                             false,
		``:     false,
		`-ERR`: false,
	} {
		if got := isStored([]byte(answer)); got != want {
			t.Errorf("%q: %v", answer, got)
		}
	}
}
