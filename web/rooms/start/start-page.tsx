/** The start page: what rooms are, create one, open an invite link, the rooms of this device. */
import { KeyRound, LockKeyhole, PenLine, UserRound } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../shared/api/http.js';
import { Form, SelectField, TextField } from '../../shared/components/form.js';
import { Icon } from '../../shared/components/icon.js';
import { href, navigate } from '../../shared/route.js';
import { MAX_NAME, MAX_TITLE, tidy } from '../content.js';
import { create } from '../enter.js';
import { fragmentOf } from '../invite-link.js';
import { ownName } from '../own-name.js';
import { openSecrets } from '../secrets.js';
import { isStoragePersistent, openRooms, removeEnded } from '../store.js';
import { texts } from '../texts.js';

const words = texts.start;
const FACT_ICONS = [UserRound, KeyRound, PenLine];

export function StartPage() {
  return (
    <main class="start">
      <section class="start-about">
        <span class="start-mark">
          <Icon of={LockKeyhole} />
          {texts.title}
        </span>
        <h1>{words.heading}</h1>
        <p class="start-lead">{words.lead}</p>
        <ul class="start-facts">
          {words.facts.map(([title, text], index) => (
            <li key={title}>
              <Icon of={FACT_ICONS[index] ?? KeyRound} />
              <span>
                <strong>{title}</strong>
                {text}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <div class="start-doors">
        <OwnRooms />
        <CreateForm />
        <OpenLink />
      </div>
    </main>
  );
}

function CreateForm() {
  const [nameError, setNameError] = useState<string>();
  const [isLasting, setLasting] = useState(true);
  useEffect(() => void isStoragePersistent().then(setLasting), []);
  return (
    <section class="card door" aria-labelledby="create-heading">
      <h2 id="create-heading">{words.create}</h2>
      <Form
        submitLabel={words.submit}
        onSubmit={async (values) => {
          const name = tidy(String(values.get('name')), MAX_NAME);
          setNameError(name ? undefined : words.nameNeeded);
          if (!name) return;
          ownName.set(name);
          const title = tidy(String(values.get('title')), MAX_TITLE);
          navigate(href(['room', await create(name, title, Number(values.get('lifetime'))).catch(explain)]));
        }}
      >
        <TextField
          label={words.name}
          hint={words.nameHint}
          error={nameError}
          name="name"
          defaultValue={ownName.get()}
          maxLength={MAX_NAME}
          autoComplete="nickname"
        />
        <TextField
          label={words.roomTitle}
          hint={words.roomTitleHint}
          name="title"
          maxLength={MAX_TITLE}
          autoComplete="off"
        />
        <SelectField label={words.lifetime} name="lifetime">
          {words.lifetimes.map(([ms, label]) => (
            <option key={ms} value={ms} selected={ms === '3600000'}>
              {label}
            </option>
          ))}
        </SelectField>
        {!isLasting && <p class="quiet">{words.notLasting}</p>}
      </Form>
    </section>
  );
}

function explain(error: unknown): never {
  const isLimit = error instanceof ApiError && error.status === 429;
  throw isLimit ? new ApiError(words.tooMany((error.retryAfterSeconds ?? 60) * 1000), 429) : error;
}

function OpenLink() {
  const [error, setError] = useState<string>();
  return (
    <section class="card door open-link" aria-labelledby="open-heading">
      <h2 id="open-heading">{words.open}</h2>
      <Form
        submitLabel={words.openLink}
        onSubmit={async (values) => {
          const fragment = fragmentOf(String(values.get('link')));
          setError(fragment ? undefined : words.linkInvalid);
          if (fragment) navigate(fragment);
        }}
      >
        <TextField
          label={words.link}
          hint={words.linkHint}
          error={error}
          name="link"
          autoComplete="off"
          spellcheck={false}
        />
      </Form>
    </section>
  );
}

interface OwnRoom {
  readonly roomId: string;
  readonly title: string;
  readonly expiresAt: number;
}

async function loadOwnRooms(): Promise<readonly OwnRoom[]> {
  await removeEnded(Date.now());
  const found = (await openRooms(Date.now())).map(async (record) => {
    const { title } = await openSecrets(record);
    return { roomId: record.roomId, expiresAt: record.expiresAt, title };
  });
  return (await Promise.all(found)).sort((a, b) => a.expiresAt - b.expiresAt);
}

function OwnRooms() {
  const [own, setOwn] = useState<readonly OwnRoom[]>([]);
  useEffect(() => void loadOwnRooms().then(setOwn), []);
  if (own.length === 0) return null;
  return (
    <section class="card door" aria-labelledby="own-heading">
      <h2 id="own-heading">{words.yours}</h2>
      <ul class="own-rooms">
        {own.map(({ roomId, title, expiresAt }) => (
          <li key={roomId}>
            <a href={href(['room', roomId])}>
              <span>{title || words.untitled}</span>
              <span class="quiet">{words.left(expiresAt - Date.now())}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
