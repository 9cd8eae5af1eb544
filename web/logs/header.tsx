/** Head of the page: its views, the API reference, help and sign-out. */
import { Bell, BookOpen, CircleHelp, LogOut, Logs, Search } from 'lucide-preact';
import { IconButton } from '../shared/components/button.js';
import { Icon } from '../shared/components/icon.js';
import { help } from './explore/help-state.js';
import { lastExplored } from './explore/view.js';
import { signOut } from './session/session.js';
import { texts } from './texts.js';

export function Header({ isAlerts, canSignOut }: { isAlerts: boolean; canSignOut: boolean }) {
  return (
    <header class="page-head">
      {!isAlerts && (
        <button type="button" class="skip" onClick={skip}>
          {texts.nav.skip}
        </button>
      )}
      <h1>
        <Icon of={Logs} />
        {texts.title}
      </h1>
      <nav aria-label={texts.nav.label}>
        <a href={lastExplored.value} aria-current={isAlerts ? undefined : 'page'}>
          <Icon of={Search} />
          <span>{texts.nav.explore}</span>
        </a>
        <a href="#/alerts" aria-current={isAlerts ? 'page' : undefined}>
          <Icon of={Bell} />
          <span>{texts.nav.alerts}</span>
        </a>
        <a href="docs" class="reference" title={texts.nav.reference} target="_blank" rel="noreferrer">
          <Icon of={BookOpen} />
          <span>{texts.nav.reference}</span>
        </a>
      </nav>
      <IconButton
        icon={CircleHelp}
        label={texts.nav.help}
        onClick={() => {
          help.value = true;
        }}
      />
      {canSignOut && <IconButton icon={LogOut} label={texts.nav.signOut} onClick={signOut} />}
    </header>
  );
}

/** A button, since the address behind # is the query. */
const skip = () => document.getElementById('records')?.focus();
