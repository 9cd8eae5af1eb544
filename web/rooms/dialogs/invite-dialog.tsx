/** Makes invite links, one for each person, and shows which were used. */
import { useSignal } from '@preact/signals';
import { Share2 } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Field, Form, TextField } from '../../shared/components/form.js';
import { clockTime } from '../../shared/components/time.js';
import { tidy } from '../content.js';
import { useRoom } from '../room/context.js';
import { texts } from '../texts.js';

const words = texts.invite;
const MAX_LABEL = 48;

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { session } = useRoom();
  const link = useSignal<string | undefined>(undefined);
  return (
    <Dialog title={words.heading} closeLabel={texts.close} onClose={onClose}>
      <p>{words.lead}</p>
      {link.value ? (
        <NewLink
          link={link.value}
          onAnother={() => {
            link.value = undefined;
          }}
        />
      ) : (
        <Form
          submitLabel={words.create}
          onSubmit={async (values) => {
            link.value = await session.invite(tidy(String(values.get('label')), MAX_LABEL)).catch(explain);
          }}
        >
          <TextField
            label={words.label}
            hint={words.labelHint}
            name="label"
            maxLength={MAX_LABEL}
            autoComplete="off"
            autofocus
          />
        </Form>
      )}
      <IssuedLinks />
    </Dialog>
  );
}

function explain(error: unknown): never {
  const hasNoMore = error instanceof ApiError && error.status === 429;
  throw hasNoMore ? new ApiError(words.full, 429) : error;
}

function NewLink({ link, onAnother }: { link: string; onAnother: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  return (
    <div class="new-link">
      <Field label={words.link}>
        {(attributes) => (
          <input
            {...attributes}
            ref={input}
            readOnly
            value={link}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
        )}
      </Field>
      <div class="dialog-actions">
        <Button onClick={onAnother}>{words.another}</Button>
        {'share' in navigator && (
          <Button icon={Share2} onClick={() => void navigator.share({ url: link }).catch(() => {})}>
            {words.share}
          </Button>
        )}
        <CopyButton text={link} label={texts.copy} copiedLabel={texts.copied} small={false} variant="main" />
      </div>
    </div>
  );
}

function IssuedLinks() {
  const { session } = useRoom();
  const { issued } = session.secrets.value;
  const { members, keyVersion } = session.conversation.value;
  if (issued.length === 0) return null;
  return (
    <section class="issued">
      <h3>{words.issued}</h3>
      <ul>
        {issued.map(({ digest, label, at, keyVersion: version }) => {
          const user = [...members.values()].find(({ invite }) => invite === digest);
          const state = user ? words.usedBy(user.name) : version < keyVersion ? words.outdated : words.unused;
          return (
            <li key={digest}>
              <span>{label || words.unnamed}</span>
              <span class="quiet">
                {clockTime(at)} · {state}
              </span>
            </li>
          );
        })}
      </ul>
      <p class="quiet">{words.revokeHint}</p>
    </section>
  );
}
