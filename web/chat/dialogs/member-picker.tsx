/** Picks the members of a private channel. */
import { useState } from 'preact/hooks';
import { Avatar } from '../../shared/components/avatar.js';
import { TextField } from '../../shared/components/form.js';
import { ranked } from '../state/completion.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';

interface MemberPickerProps {
  readonly members: readonly string[];
  /** Is always a member. */
  readonly creatorId: string;
  readonly onChange: (members: readonly string[]) => void;
}

export function MemberPicker({ members, creatorId, onChange }: MemberPickerProps) {
  const { store } = useWorkspace();
  const [typed, setTyped] = useState('');
  const people = ranked([...store.users.value.values()], typed, ({ userName }) => userName);
  function toggle(id: string) {
    onChange(members.includes(id) ? members.filter((each) => each !== id) : [...members, id]);
  }
  return (
    <fieldset class="member-picker">
      <legend>{texts.members(members.length)}</legend>
      <TextField
        label={texts.findPerson}
        value={typed}
        autocomplete="off"
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <ul>
        {people.map(({ id, userName }) => (
          <li key={id}>
            <label class="choice">
              <input
                type="checkbox"
                checked={id === creatorId || members.includes(id)}
                disabled={id === creatorId}
                onChange={() => toggle(id)}
              />
              <Avatar small id={id} name={userName} />
              {userName}
            </label>
          </li>
        ))}
      </ul>
      <p class="quiet">{texts.adminsSeeAll}</p>
    </fieldset>
  );
}
