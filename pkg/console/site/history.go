package site

import (
	"context"
	"errors"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
	"github.com/firesteel-dev/firesteel/pkg/history"
)

// maxHistoryAttempts bounds the attempts whose event logs are looked for: the last ones.
const maxHistoryAttempts = 5

// History returns what is known of the event logs of an application: of one that is there by what runs, of another one by the archive.
func (s *Site) History(ctx context.Context, user *session.Session, ref sparkui.Ref, wanted sparkui.Wanted) (*sparkui.History, bool, error) {
	namespace, err := user.Namespace(ctx, ref.Namespace)
	if errors.Is(err, console.ErrNoNamespace) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	id := archive.ID{Namespace: namespace, Resource: ref.Resource + "." + ref.Group, Name: ref.Name, UID: wanted.UID}
	attempts := []api.Attempt{}
	if driver, ok := s.options.Drivers.Driver(ref); ok && (wanted.UID == "" || wanted.UID == driver.UID) {
		id.UID = driver.UID
		for number := max(driver.Attempt-maxHistoryAttempts+1, 0); number <= driver.Attempt; number++ {
			attempts = append(attempts, api.Attempt{Attempt: number})
		}
		if count := len(attempts); count > 0 {
			attempts[count-1].ApplicationID = driver.ApplicationID
		}
	} else {
		found, err := s.archivedOf(ctx, user, id)
		if err != nil || found == nil {
			return nil, false, err
		}
		id.UID, attempts = types.UID(found.UID), found.Attempts
	}
	return &sparkui.History{UID: id.UID, Namespace: namespace.UID, IDs: idsOf(id, attempts, wanted.Attempt)}, true, nil
}

// idsOf returns the IDs that event logs of attempts may have, the last attempt first. only is the number of the wanted attempt; empty for all.
func idsOf(id archive.ID, attempts []api.Attempt, only string) (ids []string) {
	if number, err := strconv.ParseInt(only, 10, 64); err == nil {
		known := api.Attempt{Attempt: number}
		for _, attempt := range attempts {
			if attempt.Attempt == number {
				known = attempt
			}
		}
		attempts = []api.Attempt{known}
	}
	attempts = attempts[max(len(attempts)-maxHistoryAttempts, 0):]
	for i := range attempts {
		attempt := &attempts[len(attempts)-1-i]
		ids = append(ids, history.SentID(archive.EventLog{ID: id, Attempt: attempt.Attempt}))
		if attempt.ApplicationID != "" {
			ids = append(ids, history.WrittenIDs(id.Namespace.Name, attempt.ApplicationID)...)
		}
	}
	return ids
}

// archivedOf returns what the archive has of an application, the newest one if its uid is not given; nil if it has nothing that the user may read.
func (s *Site) archivedOf(ctx context.Context, user *session.Session, id archive.ID) (*api.Details, error) {
	store := (&viewer{session: user, site: s}).Archive()
	if store == nil {
		return nil, nil
	}
	wanted := &api.Application{Namespace: id.Namespace.Name, Resource: id.Resource, Name: id.Name, UID: string(id.UID)}
	if wanted.UID == "" {
		found, err := store.Named(ctx, wanted.Namespace, wanted.Resource, wanted.Name)
		if api.IsNotFound(err) || err == nil && len(found.Items) == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		wanted = &found.Items[0]
	}
	details, err := store.Details(ctx, wanted)
	if api.IsNotFound(err) {
		return nil, nil
	}
	return details, err
}
