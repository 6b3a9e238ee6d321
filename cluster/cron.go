package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// headerCron is the name of the cron job that a task is from.
const headerCron = "Filch-Cron"

// headerCronSpec is the schedule of a cron job, as it was given.
const headerCronSpec = "Filch-Cron-Spec"

// CronJob is a task that is submitted again and again.
type CronJob struct {
	Name    string    `json:"name"`
	Spec    string    `json:"spec"` // when
	Handler string    `json:"handler"`
	Version string    `json:"version,omitempty"` // of the handler
	Set     time.Time `json:"set"`               // when it was given to the servers, by their clocks
}

// Cron submits a task of a handler whenever spec says so, until [Node.RemoveCron]. The servers keep it, and each time
// is one task, however many nodes there are. Cron with a name that is in use replaces the job; with all the same, it
// changes nothing. So each node may set up the same jobs when it starts.
//
// A spec has five fields: minute, hour, day of the month, month, day of the week; or six, with the second before them.
// Fields are as in cron: *, numbers, ranges, lists, steps, and names as JAN and MON. CRON_TZ=Europe/Berlin before them
// sets a time zone; the default is UTC. It can also be "@every 90s", of at least a second, or @hourly, @daily, @weekly,
// @monthly or @yearly. Tasks are at most a quarter of a second late on an idle cluster.
//
// What falls due while the servers are down is made up for by one task, not one for each time. What falls due while no node with
// places is there waits for one: each time is a task. Results are not stored; failures go to the dead letters.
//
// The node needs the permissions of a [Worker]. The options can be [OfVersion], [AtLevel], [Key], [Within], and [Unique], which leaves a time out while a task runs. The ID of a task is the job's name and the
// time at which the next is due.
func (n *Node) Cron(ctx context.Context, name, spec, handler string, in any, opts ...SubmitOption) error {
	m, err := n.cronMessage(ctx, name, spec, handler, in, opts)
	if err != nil {
		return err
	}
	for {
		last, err := n.laterStream.GetLastMsgForSubject(ctx, m.Subject)
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return n.explain(err, api("STREAM.MSG.GET."+n.later()))
		}
		revision := uint64(0)
		if err == nil {
			if sameJob(last, m) {
				return nil
			}
			revision = last.Sequence
		}
		_, err = n.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(revision))
		if !isConflict(err) {
			return cronError(n.explain(err, m.Subject), name, spec)
		}
	}
}

// cronMessage returns the message of a cron job.
func (n *Node) cronMessage(ctx context.Context, name, spec, handler string, in any, opts []SubmitOption) (*nats.Msg, error) {
	if n.looking.Err() != nil {
		return nil, ErrClosed
	}
	if err := errors.Join(checkName("name of the cron job", name), checkName("name of the handler", handler)); err != nil {
		return nil, err
	}
	if len(name) > maxName-len(cronTime) {
		return nil, fmt.Errorf("cluster: the name of the cron job has %d bytes; %d are allowed", len(name), maxName-len(cronTime))
	}
	schedule, zone, err := serverSpec(spec)
	if err != nil {
		return nil, err
	}
	s, err := newSubmission(opts)
	if err != nil {
		return nil, err
	}
	if err := s.checkCron(); err != nil {
		return nil, err
	}
	t, subject, err := n.newTask(ctx, handler, in, s)
	if err != nil {
		return nil, err
	}
	m := t.message(subject)
	s.setUnique(m)
	for _, key := range []string{headerID, nats.MsgIdHdr} {
		delete(m.Header, key)
	}
	m.Header[headerCron] = []string{name}
	m.Header[headerCronSpec] = []string{oneLine(spec)}
	m.Header[headerSchedule] = []string{oneLine(schedule)}
	m.Header[headerScheduleTarget] = []string{n.dueOf(subject)}
	if zone != "" {
		m.Header[headerScheduleZone] = []string{oneLine(zone)}
	}
	m.Subject = n.cronOf(name)
	return m, nil
}

// checkCron returns an error if an option is none for a cron job.
func (s submission) checkCron() error {
	if s.id != "" || s.noResult || len(s.after) > 0 || s.batch != nil || s.delay > 0 || !s.at.IsZero() || s.local {
		return errors.New("cluster: a cron job takes OfVersion, AtLevel, Key, Unique and Within only")
	}
	return nil
}

// serverSpec returns a spec as the servers read it, and its time zone.
func serverSpec(spec string) (schedule, zone string, err error) {
	schedule = spec
	if rest, ok := strings.CutPrefix(spec, "CRON_TZ="); ok {
		zone, schedule, _ = strings.Cut(rest, " ")
	}
	schedule = strings.TrimSpace(schedule)
	if len(strings.Fields(schedule)) == 5 {
		schedule = "0 " + schedule
	}
	if schedule == "" || strings.HasPrefix(schedule, "@at") { // the servers take them, and mean something else
		return "", "", fmt.Errorf("cluster: the spec %q of a cron job is none: %s", spec, specs)
	}
	return schedule, zone, nil
}

// specs says what a spec is.
const specs = `want five fields, as "30 3 * * MON-FRI", six with the second before them, or "@every 90s", of at least a second`

// codeZone is what the servers say of a time zone that they do not know: JSMessageSchedulesTimeZoneInvalidErr.
const codeZone jetstream.ErrorCode = 10223

// cronError returns the error of Cron for one of the servers.
func cronError(err error, name, spec string) error {
	if err == nil {
		return nil
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		switch api.ErrorCode {
		case jetstream.JSErrCodeSchedulePatternInvalid:
			return fmt.Errorf("cluster: the spec %q of the cron job %s is none: %s", spec, name, specs)
		case codeZone:
			return fmt.Errorf("cluster: the servers do not know the time zone in the spec %q of the cron job %s", spec, name)
		}
	}
	return fmt.Errorf("cluster: the cron job %s with the spec %q is not stored: %w", name, spec, err)
}

// sameJob reports whether a job that is stored is the one of a message, whichever node has set it up.
func sameJob(last *jetstream.RawStreamMsg, m *nats.Msg) bool {
	if string(last.Data) != string(m.Data) {
		return false
	}
	own := func(h nats.Header) nats.Header {
		h = maps.Clone(h)
		maps.DeleteFunc(h, func(key string, _ []string) bool {
			return key == headerBy || strings.HasPrefix(key, "Nats-") && !strings.HasPrefix(key, headerSchedule)
		})
		return h
	}
	return maps.EqualFunc(own(last.Header), own(m.Header), slices.Equal)
}

// cronTime is how a time is written in the ID of a cron job's task.
const cronTime = "-20060102T150405"

// cronTask returns the ID of a cron job's task that was due before next.
func cronTask(name, next string) (token, error) {
	t, err := time.Parse(time.RFC3339Nano, next)
	if err != nil {
		return "", fmt.Errorf("the message of the cron job %q has no time", name)
	}
	return parseToken("name of the cron job", name+t.UTC().Format(cronTime))
}

// RemoveCron ends a cron job. Tasks that were submitted stay. For a job that is not there it does nothing.
func (n *Node) RemoveCron(ctx context.Context, name string) error {
	if err := checkName("name of the cron job", name); err != nil {
		return err
	}
	if n.ctx.Err() != nil {
		return ErrClosed
	}
	return n.explain(n.laterStream.Purge(ctx, jetstream.WithPurgeSubject(n.cronOf(name))), api("STREAM.PURGE."+n.later()))
}

// CronJobs returns the cron jobs of the cluster, by name.
func (n *Node) CronJobs(ctx context.Context) ([]CronJob, error) {
	if n.ctx.Err() != nil {
		return nil, ErrClosed
	}
	info, err := n.laterStream.Info(ctx, jetstream.WithSubjectFilter(n.cronOf("*")))
	if err != nil {
		return nil, err
	}
	var jobs []CronJob
	for _, subject := range slices.Sorted(maps.Keys(info.State.Subjects)) {
		m, err := n.laterStream.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, n.explain(err, api("STREAM.MSG.GET."+n.later()))
		}
		j := CronJob{Name: header(m.Header, headerCron), Spec: header(m.Header, headerCronSpec), Set: m.Time}
		target, _, _ := strings.Cut(strings.TrimPrefix(header(m.Header, headerScheduleTarget), n.dueOf("")), ".")
		j.Handler, j.Version = cutVersion(target)
		jobs = append(jobs, j)
	}
	return jobs, nil
}
