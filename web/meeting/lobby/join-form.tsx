/** Joins a meeting by its id. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { Checkbox, TextField } from '../../shared/components/form.js';
import { state, type Ticket } from '../meeting/state.js';
import { texts } from '../texts.js';
import { fieldsOf } from './fields.js';
import { invitation } from './invitation.js';

const { lobby: words } = texts;

interface JoinFormProps {
  readonly checkedName: () => string | undefined;
  readonly enter: (ticket: Ticket) => Promise<void>;
  /** Whether joining is what the view is for. */
  readonly isMain: boolean;
}

export function JoinForm({ checkedName, enter, isMain }: JoinFormProps) {
  const [idError, setIdError] = useState('');
  const [roomId, setRoomId] = useState(invitation.value?.roomId ?? '');
  useEffect(() => {
    if (invitation.value) setRoomId(invitation.value.roomId);
  }, [invitation.value]);
  const { status, errorCode } = state.value;
  const isJoining = status === 'joining';
  const needsPassword = errorCode === 'INVALID_PASSWORD';

  function submit(event: SubmitEvent) {
    event.preventDefault();
    const name = checkedName();
    const { password, creatorToken, isHost } = fieldsOf(event.currentTarget as HTMLFormElement);
    const id = roomId.trim().toUpperCase();
    setIdError(id ? '' : words.roomIdMissing);
    if (!name || !id) return;
    const title = id === invitation.value?.roomId ? invitation.value.title : '';
    void enter({
      name,
      roomId: id,
      isHost: isHost !== undefined,
      title,
      ...(password && { password }),
      ...(creatorToken && { creatorToken }),
    });
  }

  return (
    <form class="form" aria-label={words.joinTitle} onSubmit={submit}>
      <div class="id-and-button">
        <TextField
          label={words.roomId}
          name="roomId"
          maxLength={12}
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          placeholder="ABC123"
          value={roomId}
          error={idError || undefined}
          onInput={({ currentTarget: { value } }) => setRoomId(value)}
        />
        <Button type="submit" busy={isJoining} {...(isMain && { variant: 'main' })}>
          {isJoining ? words.joining : words.join}
        </Button>
      </div>
      {needsPassword && <Password isInvalid />}
      <details>
        <summary>{words.more}</summary>
        <div class="form">
          {!needsPassword && <Password />}
          <TextField
            label={words.creatorToken}
            hint={words.creatorTokenHint}
            name="creatorToken"
            autocomplete="off"
            spellcheck={false}
          />
          <Checkbox label={words.start} name="isHost" />
        </div>
      </details>
    </form>
  );
}

const Password = ({ isInvalid = false }: { isInvalid?: boolean }) => (
  <TextField
    label={words.password}
    hint={words.passwordHint}
    name="password"
    type="password"
    maxLength={50}
    autocomplete="off"
    {...(isInvalid && { autofocus: true })}
  />
);
