/** People who wait to be admitted, for moderators: a note on the stage, and a list in the panel. */
import { signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { Avatar } from '../../shared/components/avatar.js';
import { Button } from '../../shared/components/button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Form, TextField } from '../../shared/components/form.js';
import { send } from '../meeting/connection.js';
import { panel } from '../meeting/panel.js';
import { room } from '../meeting/state.js';
import { texts } from '../texts.js';
import { Name } from './name.js';

const { waiting: words, people: peopleWords } = texts;

/** The waiting person whom we are about to reject. */
const rejecting = signal<string | undefined>();

const admit = (targetId: string) => send({ type: 'admit-user', targetId });

function admitAll() {
  for (const id of room.value.waiting.keys()) if (!admit(id)) return;
}

function Decision({ id, name }: { id: string; name: string }) {
  return (
    <>
      <Button small variant="main" aria-label={peopleWords.of(words.admit, name)} onClick={() => admit(id)}>
        {words.admit}
      </Button>
      <Button small aria-label={peopleWords.of(words.reject, name)} onClick={() => (rejecting.value = id)}>
        {words.reject}
      </Button>
    </>
  );
}

/** Shown while the list is not. */
export function KnockNote() {
  const people = [...room.value.waiting];
  const [first] = people;
  if (!first || panel.value === 'people') return null;
  return (
    <div class="note">
      {people.length === 1 ? (
        <>
          <span class="text">{words.knocking(first[1])}</span>
          <Decision id={first[0]} name={first[1]} />
        </>
      ) : (
        <>
          <span class="text">{words.knockingMany(people.length)}</span>
          <Button small variant="main" onClick={admitAll}>
            {words.admitAll}
          </Button>
          <Button small onClick={() => (panel.value = 'people')}>
            {words.show}
          </Button>
        </>
      )}
    </div>
  );
}

export function WaitingList() {
  const people = [...room.value.waiting];
  const titleId = useId();
  if (people.length === 0) return null;
  return (
    <section class="waiting-list" aria-labelledby={titleId}>
      <header>
        <h3 id={titleId}>{words.heading}</h3>
        {people.length > 1 && (
          <Button small variant="ghost" onClick={admitAll}>
            {words.admitAll}
          </Button>
        )}
      </header>
      <ul>
        {people.map(([id, name]) => (
          <li key={id} class="waiter" data-id={id}>
            <Avatar small id={id} name={name} />
            <span class="who">
              <Name name={name} />
            </span>
            <Decision id={id} name={name} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Asks for a reason; to be rendered once. */
export function RejectDialog() {
  const id = rejecting.value;
  const name = room.value.waiting.get(id ?? '');
  if (id === undefined || name === undefined) return null;
  const close = () => (rejecting.value = undefined);
  return (
    <Dialog title={words.rejectTitle(name)} onClose={close}>
      <Form
        submitLabel={words.reject}
        onCancel={close}
        onSubmit={async (values) => {
          const reason = String(values.get('reason') ?? '').trim();
          if (send({ type: 'reject-user', targetId: id, reason })) close();
        }}
      >
        <TextField
          label={words.reasonFor(name)}
          hint={words.reasonHint}
          name="reason"
          maxLength={200}
          autocomplete="off"
        />
      </Form>
    </Dialog>
  );
}
