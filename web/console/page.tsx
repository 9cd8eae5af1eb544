/** Entry point of the page. */
import { effect } from '@preact/signals';
import { Activity, Database, KeyRound, LayoutDashboard, LogOut, ScrollText } from 'lucide-preact';
import { render } from 'preact';
import { IconButton } from '../shared/components/button.js';
import { Icon } from '../shared/components/icon.js';
import { Toasts } from '../shared/components/toasts.js';
import { byId } from '../shared/dom.js';
import { route } from '../shared/route.js';
import { Events } from './events/events.js';
import { Leases } from './leases.js';
import { Models } from './models.js';
import { Overview } from './overview/overview.js';
import { hasToken, isSignedOut, signOut } from './session.js';
import { SignIn } from './sign-in.js';
import { texts } from './texts.js';

const VIEWS = [
  { id: '', label: texts.nav.overview, icon: LayoutDashboard, View: Overview },
  { id: 'models', label: texts.nav.models, icon: Database, View: Models },
  { id: 'events', label: texts.nav.events, icon: ScrollText, View: Events },
  { id: 'leases', label: texts.nav.leases, icon: KeyRound, View: Leases },
] as const;

const currentView = () => VIEWS.find(({ id }) => id === (route().path[0] ?? '')) ?? VIEWS[0];

effect(() => {
  document.title = `${currentView().label} · ${texts.title}`;
});

function App() {
  return (
    <>
      {isSignedOut.value ? <SignIn /> : <Console />}
      <Toasts />
    </>
  );
}

function Console() {
  const { id: current, label, View } = currentView();
  return (
    <>
      <header class="page-head">
        <h1>
          <Icon of={Activity} />
          <span>{texts.title}</span>
        </h1>
        <nav aria-label={texts.nav.label}>
          {VIEWS.map(({ id, label, icon }) => (
            <a key={id} href={`#/${id}`} aria-current={id === current ? 'page' : undefined}>
              <Icon of={icon} />
              {label}
            </a>
          ))}
        </nav>
        {hasToken.value && <IconButton icon={LogOut} label={texts.nav.signOut} onClick={signOut} />}
      </header>
      <main aria-label={label}>
        <View key={current} />
      </main>
    </>
  );
}

render(<App />, byId('app'));
