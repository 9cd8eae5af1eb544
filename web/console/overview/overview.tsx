/** How this node is: readiness, services, nodes, stores, activity, transparency log and recent errors. */
import { CircleAlert, CircleCheck } from 'lucide-preact';
import { Icon } from '../../shared/components/icon.js';
import { Banner } from '../../shared/components/states.js';
import { clockTime, dateTime, Time } from '../../shared/components/time.js';
import { Loaded } from '../../shared/use-load.js';
import type { Activity, Health, Lease, NodeDescription, RecentError } from '../contract.js';
import { formatBytes, shortName } from '../format.js';
import { getHealth } from '../session.js';
import { texts } from '../texts.js';
import { usePoll, usePolled } from '../use-poll.js';
import { Charts } from './charts.js';
import { TransparencyLog } from './transparency-log.js';

export function Overview() {
  const health = usePoll(getHealth);
  const node = usePolled<NodeDescription>('node');
  const activity = usePolled<Activity>('activity', 10_000);
  const leases = usePolled<{ leases: readonly Lease[] }>('leases');
  const errors = usePolled<{ errors: readonly RecentError[] }>('errors');
  return (
    <div class="view overview">
      {node.error !== undefined && node.value && <Banner>{texts.stale}</Banner>}
      <Loaded of={node}>
        {(described) => (
          <>
            <section class="card state-card">
              {health.value && health.error === undefined && <Readiness health={health.value} />}
              <p class="quiet facts">
                <span>{texts.overview.release(described.release)}</span>
                <span>{texts.overview.uptime(described.uptimeSec)}</span>
                <code title={described.node}>{shortName(described.node)}</code>
              </p>
            </section>
            <section class="card">
              <h2>{activity.value ? periodOf(activity.value) : texts.charts.title}</h2>
              <Loaded of={activity}>{(value) => <Charts {...value} />}</Loaded>
            </section>
            <div class="columns">
              <Services node={described} leases={leases.value?.leases ?? []} />
              <Stores node={described} />
              <TransparencyLog />
            </div>
          </>
        )}
      </Loaded>
      <section class="card">
        <h2>{texts.overview.errors}</h2>
        <Loaded of={errors}>{(value) => <Errors errors={value.errors} />}</Loaded>
      </section>
    </div>
  );
}

/** A node that has started lately has no whole hour. */
function periodOf({ sliceMs, slices }: Activity): string {
  const [first] = slices;
  if (!first || slices.length * sliceMs > 3_500_000) return texts.charts.title;
  return texts.charts.since(clockTime(Date.parse(first.at)));
}

function Readiness({ health: { ok, checks } }: { health: Health }) {
  const passed = checks.filter((each) => each.ok).length;
  return (
    <details class="readiness" open={!ok}>
      <summary>
        <span class={ok ? 'good' : 'bad'}>
          <Icon of={ok ? CircleCheck : CircleAlert} />
          {ok ? texts.overview.ready : texts.overview.notReady}
        </span>
        <span class="quiet">{texts.overview.checks(passed, checks.length)}</span>
      </summary>
      <ul class="plain checks">
        {checks.map(({ name, ok, detail }) => (
          <li key={name} class={ok ? 'good' : 'bad'}>
            <Icon of={ok ? CircleCheck : CircleAlert} />
            <span>{name}</span>
            <span class="quiet">{detail}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** All ports of a node listen on the same host, which this page has reached by the name in its address. */
function reachable(url: string): string {
  const { hostname, port } = new URL(url);
  return LISTENING.test(hostname) ? `${location.protocol}//${location.hostname}:${port || '80'}` : url;
}

/** Addresses that a service listens on, by which other machines do not reach it. */
const LISTENING = /^(?:localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\])$/;

/** Nodes are known from their connections, and from the leases that they hold. */
function Services({ node: { node, nodes, services }, leases }: { node: NodeDescription; leases: readonly Lease[] }) {
  const known = [...new Set([...nodes, ...leases.map(({ owner }) => owner)])];
  const heldBy = (name: string) => leases.filter(({ owner }) => owner === name).length;
  return (
    <section class="card">
      <h2>{texts.overview.services}</h2>
      <ul class="plain pairs">
        {services.map(({ name, url }) => (
          <li key={name}>
            <span>{name}</span>
            <a href={reachable(url)} target="_blank" rel="noreferrer">
              {reachable(url).replace(/^https?:\/\//, '')}
            </a>
          </li>
        ))}
      </ul>
      <h2>{texts.overview.nodes}</h2>
      <ul class="plain pairs">
        {known.map((name) => (
          <li key={name}>
            <code title={name}>{shortName(name)}</code>
            {name === node && <span class="quiet">{texts.overview.thisNode}</span>}
            <span>{texts.overview.leases(heldBy(name))}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Stores({ node: { stores, engines, disk } }: { node: NodeDescription }) {
  const size = (bytes: number | undefined) => (bytes === undefined ? texts.overview.unknown : formatBytes(bytes));
  return (
    <section class="card">
      <h2>{texts.overview.stores}</h2>
      <p>{stores}</p>
      {engines.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.overview.engine}</th>
              <th scope="col" class="number">
                {texts.overview.memory}
              </th>
              <th scope="col" class="number">
                {texts.overview.onDisk}
              </th>
            </tr>
          </thead>
          <tbody>
            {engines.map(({ name, memory, disk }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">{size(memory)}</td>
                <td class="number">{size(disk)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {disk && <p class="quiet">{texts.overview.disk(formatBytes(disk.free), formatBytes(disk.size))}</p>}
    </section>
  );
}

function Errors({ errors }: { errors: readonly RecentError[] }) {
  if (errors.length === 0) return <p class="quiet">{texts.overview.noErrors}</p>;
  return (
    <ul class="plain errors">
      {errors.map(({ time, level, message, error }, index) => (
        // The newest is first, so that an index counted from the end stays that of its line.
        <li key={errors.length - index}>
          <Time at={Date.parse(time)}>{dateTime(Date.parse(time))}</Time>
          <span class={level === 'error' ? 'bad' : 'warn'}>
            {level === 'error' ? texts.overview.error : texts.overview.warning}
          </span>
          <span class="message">
            {message}
            {error !== undefined && <span class="quiet">{error}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
