/** Choice of camera, microphone and speaker. */
import type { ReadonlySignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { SelectField } from '../../shared/components/form.js';
import {
  canChooseSpeaker,
  chooseDevice,
  chosenDevice,
  type Device,
  type DeviceKind,
  devices,
} from '../media/devices.js';
import { camera, microphone } from '../media/input.js';
import { texts } from '../texts.js';

const { devices: words } = texts;

interface DeviceFieldProps {
  readonly label: string;
  readonly kind: DeviceKind;
  readonly list: ReadonlySignal<readonly Device[]>;
  /** Why the device could not be opened. */
  readonly problem?: string;
}

/** Uses a device from now on. */
export async function switchDevice(kind: DeviceKind, id: string | undefined): Promise<void> {
  chooseDevice(kind, id);
  if (kind === 'videoinput' && camera.track.value) await camera.open();
  if (kind === 'audioinput' && microphone.track.value) await microphone.open();
}

function DeviceField({ label, kind, list, problem }: DeviceFieldProps) {
  const name = useId();
  return (
    <SelectField
      label={label}
      name={name}
      error={problem || undefined}
      value={chosenDevice(kind) ?? ''}
      disabled={list.value.length === 0}
      onChange={({ currentTarget: { value } }) => void switchDevice(kind, value || undefined)}
    >
      <option value="">{words.default}</option>
      {list.value.map((each) => (
        <option key={each.id} value={each.id}>
          {each.name}
        </option>
      ))}
    </SelectField>
  );
}

export const DeviceFields = () => (
  <div class="device-fields">
    <DeviceField label={words.camera} kind="videoinput" list={devices.videoinput} problem={camera.problem.value} />
    <DeviceField
      label={words.microphone}
      kind="audioinput"
      list={devices.audioinput}
      problem={microphone.problem.value}
    />
    {canChooseSpeaker && <DeviceField label={words.speaker} kind="audiooutput" list={devices.audiooutput} />}
  </div>
);
