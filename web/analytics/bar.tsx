/** The bar at the top: site, its actions, and the account. */
import { ChevronDown, Code, LogOut, Plus, Settings, Share2, ShieldCheck, UserRound } from 'lucide-preact';
import { Button } from '../shared/components/button.js';
import { Icon } from '../shared/components/icon.js';
import { Menu } from '../shared/components/menu.js';
import type { User } from './contract.js';
import { signOut } from './sign-in/commands.js';
import { Brand } from './sign-in/sign-in.js';
import { selectSite } from './state/dashboard.js';
import { isInstallOpen, type OpenDialog, openDialog, site, siteId, sites } from './state/selection.js';
import { barTexts, texts } from './texts.js';

const open = (dialog: OpenDialog) => () => {
  openDialog.value = dialog;
};

export function Bar({ user }: { user: User }) {
  const hasSites = (sites.value?.length ?? 0) > 0;
  return (
    <header class="bar">
      <p class="brand">
        <Brand />
        <span>{texts.title}</span>
      </p>
      {hasSites && <SitePicker />}
      <nav aria-label={barTexts.sites}>
        {site.value && <SiteActions />}
        <Button variant="ghost" small icon={Plus} onClick={open('create')}>
          {barTexts.newSite}
        </Button>
      </nav>
      <Account name={user.email ?? user.role} />
    </header>
  );
}

function SitePicker() {
  return (
    <label class="picker">
      <span class="unseen">{barTexts.site}</span>
      <select
        id="site"
        value={siteId.value ?? ''}
        onChange={(event) => selectSite(event.currentTarget.value || undefined)}
      >
        <option value="">{barTexts.allSites}</option>
        {sites.value?.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function SiteActions() {
  function toggleInstall() {
    isInstallOpen.value = !isInstallOpen.value;
  }
  return (
    <>
      <Button
        id="open-install"
        variant="ghost"
        small
        icon={Code}
        aria-expanded={isInstallOpen.value}
        onClick={toggleInstall}
      >
        {barTexts.install}
      </Button>
      <Button variant="ghost" small icon={Settings} onClick={open('change')}>
        {barTexts.settings}
      </Button>
      <Button variant="ghost" small icon={Share2} onClick={open('share')}>
        {barTexts.share}
      </Button>
    </>
  );
}

function Account({ name }: { name: string }) {
  const items = () => [
    { label: barTexts.privacy, icon: ShieldCheck, run: open('privacy') },
    { label: barTexts.signOut, icon: LogOut, run: () => void signOut() },
  ];
  return (
    <div class="account">
      <Menu label={barTexts.account(name)} small items={items}>
        <Icon of={UserRound} />
        <span id="who">{name}</span>
        <Icon of={ChevronDown} />
      </Menu>
    </div>
  );
}
