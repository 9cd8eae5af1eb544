/** What the service has of this room, from its own answers. */
import type { ComponentChildren } from 'preact';
import { clockTime, fullTime } from '../../shared/components/time.js';
import type { StoredMessage } from '../contract.js';
import { byteSize } from '../format.js';
import { useRoom } from '../room/context.js';
import { texts } from '../texts.js';
import { Panel } from './panel.js';

const words = texts.server;
const NEWEST = 30;

export function ServerPanel() {
  const { session } = useRoom();
  const { messages, characters } = session.traffic.totals.value;
  const newest = session.traffic.newest.value.slice(-NEWEST).reverse();
  const participants = session.roster.participants.value;
  return (
    <Panel title={words.heading}>
      <p>{words.lead}</p>
      <h3>{words.knows}</h3>
      <dl class="facts">
        <Fact name={words.room}>
          <code>{session.roomId}</code>
        </Fact>
        <Fact name={words.created}>{participants[0] ? fullTime(Date.parse(participants[0].joinedAt)) : ''}</Fact>
        <Fact name={words.erased}>{fullTime(session.expiresAt.value)}</Fact>
        <Fact name={words.messages}>{words.traffic(messages, byteSize(Math.floor((characters * 3) / 4)))}</Fact>
        <Fact name={words.network}>{words.addresses}</Fact>
      </dl>
      <h3>{words.neverHas}</h3>
      <ul class="never">
        {words.never.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      <h3>{words.newest}</h3>
      <p class="quiet">{newest.length > 0 ? words.padded : words.none}</p>
      <ul class="seen-messages">
        {newest.map((message) => (
          <SeenMessage key={message.id} message={message} />
        ))}
      </ul>
      <h3>{words.participants}</h3>
      <ul class="seen-people">
        {participants.map(({ id, name, joinedAt, signingPublicKey }) => (
          <li key={id}>
            <code>{id}</code>
            <dl class="facts">
              <Fact name={words.asNamed}>{name}</Fact>
              <Fact name={words.joined}>{clockTime(Date.parse(joinedAt))}</Fact>
              <Fact name={words.publicKey}>
                <code class="one-line">{signingPublicKey?.x}</code>
              </Fact>
            </dl>
          </li>
        ))}
      </ul>
      {newest[0] && (
        <details>
          <summary>{words.raw}</summary>
          <pre>{JSON.stringify(newest[0], null, 2)}</pre>
        </details>
      )}
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const CIPHERTEXT_LENGTH = 120;

function SeenMessage({ message }: { message: StoredMessage }) {
  const { senderId, createdAt, keyVersion, chainId, messageIndex, ciphertext } = message;
  return (
    <li>
      <code class="ciphertext">{ciphertext.slice(0, CIPHERTEXT_LENGTH)}…</code>
      <span class="quiet seen-fields">
        <span>{clockTime(Date.parse(createdAt))}</span>
        <span>
          {words.sender} {senderId.slice(0, 6)}
        </span>
        <span>{byteSize(Math.floor((ciphertext.length * 3) / 4))}</span>
        <span>
          {words.key} {keyVersion}
        </span>
        <span>
          {words.chain} {chainId.slice(0, 4)}/{messageIndex}
        </span>
      </span>
      <YouSee id={message.id} />
    </li>
  );
}

function YouSee({ id }: { id: string }) {
  const { session } = useRoom();
  const entry = session.conversation.value.entries.find((each) => each.id === id);
  const shown = entry?.kind === 'text' ? entry.text.slice(0, 100) : words.notText;
  return (
    <span class="you-see">
      <span class="quiet">{words.youSee}: </span>
      {entry?.kind === 'text' ? shown : <span class="quiet">{shown}</span>}
    </span>
  );
}
