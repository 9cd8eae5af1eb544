/** An opened invite link: who invites, under which name to join, and what is wrong with links that do not work. */
import { LinkIcon, LockKeyhole } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../shared/api/http.js';
import { Form, TextField } from '../../shared/components/form.js';
import { Icon } from '../../shared/components/icon.js';
import { Empty, Loading } from '../../shared/components/states.js';
import { toast } from '../../shared/components/toasts.js';
import { href, navigate } from '../../shared/route.js';
import { MAX_NAME, tidy } from '../content.js';
import { addKeyOf, join } from '../enter.js';
import { type Invite, parseInvite } from '../invite-link.js';
import { ownName } from '../own-name.js';
import { openSecrets } from '../secrets.js';
import { rooms } from '../store.js';
import { texts } from '../texts.js';

const words = texts.join;

export function JoinPage({ path, query }: { path: readonly string[]; query: URLSearchParams }) {
  const invite = parseInvite(path, query);
  if (!invite)
    return (
      <Empty icon={LinkIcon} title={words.incompleteTitle}>
        <span>{words.incomplete}</span>
        <a href="#/">{words.toStart}</a>
      </Empty>
    );
  return <JoinForm invite={invite} />;
}

/** In the address only until one is in: it holds the room key. */
const enter = (roomId: string) => navigate(href(['room', roomId]), { replace: true });

function JoinForm({ invite }: { invite: Invite }) {
  const { roomId, by, title } = invite;
  const [step, setStep] = useState<'join' | 'other-key'>();
  const [nameError, setNameError] = useState<string>();
  useEffect(() => {
    void (async () => {
      const record = await rooms.get(roomId);
      if (!record) return setStep('join');
      const { roomKeys } = await openSecrets(record);
      if (!Object.hasOwn(roomKeys, invite.keyVersion)) return setStep('other-key');
      openKnown(roomId);
    })();
  }, []);
  if (!step) return <Loading label={texts.loading} />;
  if (step === 'other-key') return <OtherKey invite={invite} />;
  return (
    <main class="join">
      <section class="card door" aria-labelledby="join-heading">
        <span class="start-mark">
          <Icon of={LockKeyhole} />
          {texts.title}
        </span>
        <h1 id="join-heading">{words.heading(title)}</h1>
        <p>
          {by && <strong>{words.invitedBy(by.name)} </strong>}
          {words.lead}
        </p>
        <Form
          submitLabel={words.submit}
          onSubmit={async (values) => {
            const name = tidy(String(values.get('name')), MAX_NAME);
            setNameError(name ? undefined : texts.start.nameNeeded);
            if (!name) return;
            ownName.set(name);
            enter(await join(invite, name).catch(explain));
          }}
        >
          <TextField
            label={texts.start.name}
            hint={texts.start.nameHint}
            error={nameError}
            name="name"
            defaultValue={ownName.get()}
            maxLength={MAX_NAME}
            autoComplete="nickname"
            autofocus
          />
        </Form>
      </section>
    </main>
  );
}

function openKnown(roomId: string) {
  toast({ text: words.alreadyIn });
  enter(roomId);
}

/** Asks first: anybody can make a link with a key of their own, and would read what is written with it. */
function OtherKey({ invite }: { invite: Invite }) {
  return (
    <main class="join">
      <section class="card door" aria-labelledby="join-heading">
        <h1 id="join-heading">{words.keyHeading}</h1>
        <p>{words.keyText}</p>
        <Form
          submitLabel={words.takeKey}
          cancelLabel={words.keepKeys}
          onCancel={() => openKnown(invite.roomId)}
          onSubmit={async () => {
            await addKeyOf(invite);
            openKnown(invite.roomId);
          }}
        >
          {null}
        </Form>
      </section>
    </main>
  );
}

const REASONS: { readonly [status: number]: string } = { 404: words.unknown, 409: words.full, 410: words.used };

function explain(error: unknown): never {
  const reason = error instanceof ApiError && error.status !== undefined ? REASONS[error.status] : undefined;
  throw reason ? new ApiError(reason, (error as ApiError).status) : error;
}
