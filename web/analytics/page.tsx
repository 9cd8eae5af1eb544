/** Entry point: shows the sign-in or the dashboard. */
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Loading } from '../shared/components/states.js';
import { Toasts } from '../shared/components/toasts.js';
import { byId } from '../shared/dom.js';
import { api } from './api.js';
import { Dashboard } from './dashboard.js';
import { session } from './session.js';
import { shareToken } from './share/share-token.js';
import { SharedReport } from './share/shared-report.js';
import { Unsubscribe, unsubscribeToken } from './share/unsubscribe.js';
import { startSession } from './sign-in/commands.js';
import { SignIn } from './sign-in/sign-in.js';
import { texts } from './texts.js';

/** Interval of renewal requests while the page is open; sessions last a week. */
const RENEW_EVERY_MS = 6 * 3_600_000;

function App() {
  return (
    <>
      <Page />
      <Toasts dismissLabel={texts.dismiss} />
    </>
  );
}

function Page() {
  if (shareToken !== undefined) return <SharedReport />;
  return unsubscribeToken === undefined ? <View /> : <Unsubscribe token={unsubscribeToken} />;
}

function View() {
  useEffect(() => void startSession(), []);
  const current = session.value;
  if (current.state === 'starting') return <Loading label={texts.loading} />;
  if (current.state === 'signed-out') return <SignIn reason={current.reason} link={current.link} />;
  return <Dashboard user={current.user} />;
}

setInterval(() => {
  if (session.value.state === 'signed-in') void api.renew().catch(() => {});
}, RENEW_EVERY_MS);

render(<App />, byId('app'));
