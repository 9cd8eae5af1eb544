/** A room: opens it from this device's keys, shows it, and what is left when it has ended. */
import { Flame, KeyRound, LockKeyhole, UserX } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty, Loading } from '../../shared/components/states.js';
import { Dialogs } from '../dialogs/dialogs.js';
import { PeoplePanel } from '../panels/people-panel.js';
import { ServerPanel } from '../panels/server-panel.js';
import { type EndReason, openRoom } from '../session.js';
import { rooms } from '../store.js';
import { texts } from '../texts.js';
import { Composer } from './composer.js';
import { createRoomView, RoomContext, type RoomView } from './context.js';
import { RoomHeader } from './room-header.js';
import { Timeline } from './timeline.js';

export function RoomPage({ roomId }: { roomId: string }) {
  const [view, setView] = useState<RoomView | 'missing'>();
  useEffect(() => {
    let opened: RoomView | undefined;
    let isGone = false;
    void (async () => {
      const record = await rooms.get(roomId);
      if (!record) return setView('missing');
      opened = createRoomView(await openRoom(record));
      if (isGone) opened.session.close();
      else setView(opened);
    })();
    const refresh = () => document.visibilityState === 'visible' && void opened?.session.refresh();
    document.addEventListener('visibilitychange', refresh);
    return () => {
      isGone = true;
      document.removeEventListener('visibilitychange', refresh);
      opened?.session.close();
      document.title = texts.title;
    };
  }, []);
  if (!view) return <Loading label={texts.loading} />;
  if (view === 'missing')
    return (
      <main class="ended">
        <Empty icon={KeyRound} title={texts.room.notFound}>
          <span>{texts.room.notFoundText}</span>
          <a href="#/">{texts.join.toStart}</a>
        </Empty>
      </main>
    );
  return (
    <RoomContext.Provider value={view}>
      <OpenRoom view={view} />
    </RoomContext.Provider>
  );
}

function OpenRoom({ view: { session, panel } }: { view: RoomView }) {
  const ended = session.ended.value;
  if (ended) return <Ended reason={ended} />;
  const shown = panel.value;
  return (
    <div class={`room${shown ? ' with-panel' : ''}`}>
      <RoomHeader />
      <main class="room-main">
        <Timeline />
        <Composer />
      </main>
      {shown === 'people' && <PeoplePanel />}
      {shown === 'server' && <ServerPanel />}
      <Dialogs />
    </div>
  );
}

const ENDED_ICONS = { burned: Flame, expired: LockKeyhole, unauthorized: UserX, forgotten: KeyRound } as const;

function Ended({ reason }: { reason: EndReason }) {
  const [title, text] = texts.ended[reason];
  return (
    <main class="ended" role="alert">
      <Empty icon={ENDED_ICONS[reason]} title={title}>
        <span>{text}</span>
        <a class="button-link" href="#/">
          {texts.ended.again}
        </a>
      </Empty>
    </main>
  );
}
