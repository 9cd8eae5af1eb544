/** The lobby: camera first, then joining a meeting or creating one. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { TextField } from '../../shared/components/form.js';
import { DeviceExtras } from '../devices/device-dialog.js';
import { DeviceFields } from '../devices/device-fields.js';
import { Preview } from '../devices/preview.js';
import { enter, outbox } from '../meeting/meeting.js';
import { state } from '../meeting/state.js';
import { texts } from '../texts.js';
import { CreateForm } from './create-form.js';
import { invitation } from './invitation.js';
import { JoinForm } from './join-form.js';
import { ownName, rememberName } from './own-name.js';
import { Trouble } from './trouble.js';

const { lobby: words } = texts;

/** Whether the user wants another meeting than the one of the address. */
const wantsOther = signal(false);

export function Lobby() {
  const [nameError, setNameError] = useState('');
  const invited = wantsOther.value ? undefined : invitation.value;

  /** Undefined, with a hint at the field, if the name is missing. */
  function checkedName(): string | undefined {
    const name = ownName.value.trim();
    setNameError(name ? '' : words.nameMissing);
    if (!name) document.querySelector<HTMLInputElement>('input[name=own-name]')?.focus();
    else rememberName(name);
    return name || undefined;
  }

  return (
    <main class="lobby">
      <section class="look" aria-label={texts.devices.settings}>
        <Preview name={ownName.value} />
        <DeviceFields />
        <DeviceExtras />
      </section>
      <section class="doors">
        <header>
          <h1>{invited ? titleFor(invited) : words.greeting}</h1>
          <p class="quiet">{invited ? words.invitedAbout : words.about}</p>
        </header>
        <Trouble checkedName={checkedName} />
        <Unsent />
        <TextField
          label={words.name}
          name="own-name"
          maxLength={50}
          autocomplete="nickname"
          autofocus={ownName.peek() === ''}
          value={ownName.value}
          error={nameError || undefined}
          onInput={({ currentTarget: { value } }) => {
            ownName.value = value;
            if (value.trim()) setNameError('');
          }}
        />
        {!invited && <CreateForm checkedName={checkedName} enter={enter} />}
        {!invited && <p class="or quiet">{words.or}</p>}
        <JoinForm checkedName={checkedName} enter={enter} isMain={invited !== undefined} />
        {invited && state.value.status === 'out' && (
          <Button onClick={() => (wantsOther.value = true)}>{words.other}</Button>
        )}
      </section>
    </main>
  );
}

const titleFor = ({ roomId, title }: { roomId: string; title: string }) =>
  title ? words.invitedTo(title) : words.invited(roomId);

/** Messages that wait for us to join again. */
function Unsent() {
  const waiting = outbox.visible.value;
  if (waiting.length === 0) return null;
  return (
    <section class="unsent" aria-label={words.unsent}>
      <h2>{words.unsent}</h2>
      <p class="quiet">{words.unsentAbout}</p>
      <ul>
        {waiting.map(({ id, text }) => (
          <li key={id}>{text}</li>
        ))}
      </ul>
    </section>
  );
}
