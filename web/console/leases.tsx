/** Which node holds which lease. */
import { Empty } from '../shared/components/states.js';
import { Loaded } from '../shared/use-load.js';
import type { Lease } from './contract.js';
import { shortName } from './format.js';
import { texts } from './texts.js';
import { usePolled } from './use-poll.js';

export function Leases() {
  const leases = usePolled<{ leases: readonly Lease[] }>('leases');
  return (
    <div class="view">
      <p class="quiet">{texts.leases.hint}</p>
      <Loaded of={leases}>
        {({ leases: held }) => (held.length === 0 ? <Empty title={texts.leases.none} /> : <LeaseTable leases={held} />)}
      </Loaded>
    </div>
  );
}

const LeaseTable = ({ leases }: { leases: readonly Lease[] }) => (
  <div class="card table">
    <table>
      <thead>
        <tr>
          <th scope="col">{texts.leases.name}</th>
          <th scope="col">{texts.leases.owner}</th>
        </tr>
      </thead>
      <tbody>
        {leases.map(({ name, owner }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <code title={owner}>{shortName(owner)}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
