/** Entry point of the page. */
import { render } from 'preact';
import { Empty } from '../shared/components/states.js';
import { Toasts } from '../shared/components/toasts.js';
import { byId } from '../shared/dom.js';
import { route } from '../shared/route.js';
import { RoomPage } from './room/room-page.js';
import { JoinPage } from './start/join-page.js';
import { StartPage } from './start/start-page.js';
import { texts } from './texts.js';

document.title = texts.title;

function View() {
  const { path, query } = route();
  const [view, roomId] = path;
  // WebCrypto exists on secure pages only.
  if (!globalThis.crypto?.subtle) return <Empty title={texts.insecure.title}>{texts.insecure.text}</Empty>;
  if (view === 'room' && roomId) return <RoomPage key={roomId} roomId={roomId} />;
  if (view === 'join') return <JoinPage key={path.join('/')} path={path} query={query} />;
  return <StartPage />;
}

const App = () => (
  <>
    <View />
    <Toasts />
  </>
);

render(<App />, byId('app'));
