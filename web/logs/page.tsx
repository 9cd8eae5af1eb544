/** Entry point of the page. */
import { effect } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { messageOf } from '../shared/api/http.js';
import { Banner, Failed, Loading } from '../shared/components/states.js';
import { Toasts } from '../shared/components/toasts.js';
import { byId } from '../shared/dom.js';
import { route } from '../shared/route.js';
import { Alerts } from './alerts/alerts.js';
import { Explorer } from './explore/explorer.js';
import { Help } from './explore/help.js';
import { view } from './explore/view.js';
import { Header } from './header.js';
import { isOffline } from './offline.js';
import { access, connect } from './session/session.js';
import { SignIn } from './session/sign-in.js';
import { texts } from './texts.js';

/** Names the query, for tabs, bookmarks and the history. */
effect(() => {
  const name = route().path[0] === 'alerts' ? texts.nav.alerts : view.value.text;
  document.title = name === '' ? texts.title : `${name} · ${texts.title}`;
});

function App() {
  useEffect(() => void connect(), []);
  return (
    <>
      <View />
      <Toasts />
    </>
  );
}

function View() {
  const { value } = access;
  if (value.kind === 'connecting')
    return value.error === undefined ? (
      <Loading label={texts.states.connecting} />
    ) : (
      <Failed error={messageOf(value.error)} retry={() => void connect()} />
    );
  if (value.kind === 'signed out') return <SignIn />;
  const isAlerts = route().path[0] === 'alerts';
  return (
    <div class="app">
      <Header isAlerts={isAlerts} canSignOut={value.kind === 'signed in'} />
      {isOffline.value && <Banner>{texts.states.offline}</Banner>}
      {isAlerts ? <Alerts /> : <Explorer />}
      <Help />
    </div>
  );
}

render(<App />, byId('app'));
