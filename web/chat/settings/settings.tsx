/** Settings of the account and of the server: a layer over the workspace with a list of sections. */
import { Lock, X } from 'lucide-preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { Empty, Failed, Loading } from '../../shared/components/states.js';
import { href } from '../../shared/route.js';
import type { User } from '../session.js';
import { closeSettings } from '../settings-route.js';
import { config, configError, loadConfig } from '../sign-in/config.js';
import { settingsTexts as texts } from '../texts/settings.js';
import { type Section, sectionsFor } from './sections.js';

interface SettingsProps {
  readonly path: readonly string[];
  readonly user: User;
}

/** Dialogs and menus over the settings take the key first. */
function closeOnEscape(event: KeyboardEvent) {
  const isTaken = event.defaultPrevented || document.querySelector('dialog[open], :popover-open');
  if (event.key !== 'Escape' || isTaken) return;
  // Else it would also close what is open in the workspace.
  event.preventDefault();
  closeSettings();
}

export function Settings({ path: [group, id], user }: SettingsProps) {
  const layer = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    void loadConfig();
    const before = document.activeElement;
    layer.current?.focus();
    document.addEventListener('keydown', closeOnEscape);
    return () => {
      document.removeEventListener('keydown', closeOnEscape);
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const sections = config.value ? sectionsFor(user, config.value) : [];
  const current = sections.find((each) => each.group === group && (id === undefined || each.id === id));

  return (
    <section ref={layer} class="settings" aria-label={texts.title} tabIndex={-1}>
      <header class="settings-bar">
        <h1>{texts.title}</h1>
        <IconButton icon={X} label={texts.close} onClick={closeSettings} />
      </header>
      <SectionList sections={sections} current={current} />
      <main class="settings-content">
        {config.value ? (
          <Content user={user} section={current} />
        ) : configError.value ? (
          <Failed error={configError.value} retry={loadConfig} retryLabel={texts.retry} />
        ) : (
          <Loading label={texts.loading} />
        )}
      </main>
    </section>
  );
}

function Content({ user, section }: { user: User; section: Section | undefined }) {
  if (!section || !config.value) return <Empty icon={Lock} title={texts.adminsOnly} children={texts.adminsOnlyHint} />;
  const { View, title, id } = section;
  return (
    <>
      <h2 class="settings-title">{title}</h2>
      <View key={id} user={user} config={config.value} />
    </>
  );
}

const GROUPS = [
  ['account', texts.account],
  ['admin', texts.server],
] as const;

function SectionList({ sections, current }: { sections: readonly Section[]; current: Section | undefined }) {
  return (
    <nav class="settings-sections" aria-label={texts.sections}>
      {GROUPS.map(([group, title]) => {
        const members = sections.filter((each) => each.group === group);
        return (
          members.length > 0 && (
            <div key={group} class="settings-group">
              <p class="quiet">{title}</p>
              {members.map((section) => (
                <SectionLink key={section.id} section={section} isCurrent={section === current} />
              ))}
            </div>
          )
        );
      })}
    </nav>
  );
}

function SectionLink({ section: { group, id, title, icon }, isCurrent }: { section: Section; isCurrent: boolean }) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // On a narrow screen the sections scroll sideways.
    if (isCurrent) link.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isCurrent]);
  return (
    <a ref={link} href={href([group, id])} aria-current={isCurrent ? 'page' : undefined}>
      <Icon of={icon} />
      {title}
    </a>
  );
}
