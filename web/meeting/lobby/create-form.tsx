/** Creates a meeting and joins it. */
import { useState } from 'preact/hooks';
import { createHttp } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { FormError, TextField } from '../../shared/components/form.js';
import { state, type Ticket } from '../meeting/state.js';
import { texts } from '../texts.js';
import { fieldsOf } from './fields.js';

const { lobby: words } = texts;

interface CreatedRoom {
  readonly roomId: string;
  readonly creatorToken: string;
  readonly title?: string;
}

const http = createHttp();

interface CreateFormProps {
  readonly checkedName: () => string | undefined;
  readonly enter: (ticket: Ticket) => Promise<void>;
}

export function CreateForm({ checkedName, enter }: CreateFormProps) {
  const [isCreating, setCreating] = useState(false);
  const [error, setError] = useState<unknown>();

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const name = checkedName();
    if (!name) return;
    const { title, password, maxParticipants } = fieldsOf(event.currentTarget as HTMLFormElement);
    setCreating(true);
    setError(undefined);
    try {
      const body = { title, password, ...(maxParticipants && { maxParticipants: Number(maxParticipants) }) };
      const created = await http.json<CreatedRoom>('POST', 'api/rooms', { body });
      await enter({
        name,
        roomId: created.roomId,
        creatorToken: created.creatorToken,
        isHost: false,
        title: created.title ?? '',
        ...(password && { password }),
      });
    } catch (failure) {
      setError(failure);
    } finally {
      setCreating(false);
    }
  }

  return (
    <form class="form" aria-label={words.createTitle} onSubmit={submit}>
      <TextField
        label={words.meetingTitle}
        hint={words.meetingTitleHint}
        name="title"
        maxLength={80}
        autocomplete="off"
      />
      <details>
        <summary>{words.more}</summary>
        <div class="form">
          <TextField
            label={words.password}
            hint={words.newPasswordHint}
            name="password"
            type="password"
            maxLength={50}
            autocomplete="new-password"
          />
          <TextField
            label={words.maximum}
            name="maxParticipants"
            type="number"
            inputMode="numeric"
            min="2"
            max="50"
            defaultValue="8"
          />
        </div>
      </details>
      <FormError error={error} />
      <Button variant="main" type="submit" busy={isCreating} disabled={state.value.status === 'joining'}>
        {words.createAndJoin}
      </Button>
    </form>
  );
}
