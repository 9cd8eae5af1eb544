/** The members of the server: search, and a menu with what an admin can do for each. */
import { Search, UserPlus } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { Avatar } from '../../shared/components/avatar.js';
import { Button } from '../../shared/components/button.js';
import { Empty } from '../../shared/components/states.js';
import { relativeTime, Time } from '../../shared/components/time.js';
import { Loaded, useLoad } from '../../shared/use-load.js';
import type { SectionProps } from '../settings/sections.js';
import { adminTexts } from '../texts/admin.js';
import { settingsTexts } from '../texts/settings.js';
import { AddMember } from './add-member.js';
import { loadMembers, type Member } from './directory.js';
import { MemberMenu } from './member-menu.js';

const texts = adminTexts.members;
const PAGE = 100;

const matches = (query: string) => {
  const wanted = query.trim().toLocaleLowerCase();
  return ({ userName, id }: Member) => userName.toLocaleLowerCase().includes(wanted) || id === query.trim();
};

export function MembersSection(props: SectionProps) {
  const members = useLoad(loadMembers);
  const [isAdding, setAdding] = useState(false);
  const [query, setQuery] = useState('');
  const [shown, setShown] = useState(PAGE);
  return (
    <>
      <div class="settings-head">
        <label class="search-field">
          <span class="unseen">{texts.search}</span>
          <Search class="icon" aria-hidden="true" />
          <input
            type="search"
            placeholder={texts.search}
            value={query}
            onInput={({ currentTarget }) => setQuery(currentTarget.value)}
          />
        </label>
        <Button variant="main" icon={UserPlus} onClick={() => setAdding(true)}>
          {texts.add}
        </Button>
      </div>
      <Loaded of={members} loadingLabel={settingsTexts.loading} retryLabel={settingsTexts.retry}>
        {(all) => {
          const found = all.filter(matches(query));
          return (
            <>
              <p class="quiet" role="status">
                {texts.count(found.length)}
              </p>
              {found.length === 0 && <Empty icon={Search} title={texts.none} />}
              <ul class="settings-rows">
                {found.slice(0, shown).map((member) => (
                  <MemberRow key={member.id} {...props} member={member} reload={members.reload} />
                ))}
              </ul>
              {found.length > shown && (
                <div class="settings-foot">
                  <Button onClick={() => setShown(shown + PAGE)}>{settingsTexts.more}</Button>
                </div>
              )}
            </>
          );
        }}
      </Loaded>
      {isAdding && (
        <AddMember config={props.config} onClose={() => setAdding(false)} onAdded={() => void members.reload()} />
      )}
    </>
  );
}

interface RowProps extends SectionProps {
  readonly member: Member;
  readonly reload: () => Promise<void>;
}

function MemberRow({ member, user, config, reload }: RowProps) {
  const { id, userName, isAdmin, createdAt } = member;
  return (
    <li>
      <Avatar id={id} name={userName} />
      <div class="about">
        <strong>{userName}</strong>
        {id === user.id && <span class="tag">{settingsTexts.you}</span>}
        {isAdmin && <span class="tag">{settingsTexts.admin}</span>}
        <p>
          {texts.joined} <Time at={createdAt}>{relativeTime(createdAt)}</Time>
        </p>
      </div>
      <MemberMenu member={member} isSelf={id === user.id} config={config} reload={reload} />
    </li>
  );
}
