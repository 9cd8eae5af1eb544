/** Cameras, microphones and speakers of this computer, and which of them the user chose. */
import { computed, signal } from '@preact/signals';
import { stored } from '../../shared/storage.js';
import { texts } from '../texts.js';

export type InputKind = 'audio' | 'video';
export type DeviceKind = MediaDeviceKind;

interface Preferences {
  /** Device ids; absent for the default of the system. */
  readonly chosen: { readonly [kind in DeviceKind]?: string };
  /** What was on in the last meeting. */
  readonly isOn: { readonly [kind in InputKind]: boolean };
  readonly isMirrored: boolean;
}

const storage = stored<Partial<Preferences>>('meeting.devices', {});

export const preferences = signal<Preferences>({
  chosen: {},
  isOn: { audio: true, video: true },
  isMirrored: true,
  ...storage.get(),
});

export function changePreferences(change: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...change };
  storage.set(preferences.value);
}

/** Undefined where the browser offers no devices: on `http` pages of other hosts. */
export const mediaDevices: MediaDevices | undefined = navigator.mediaDevices;

/** Browsers without it play everything on the default speaker. */
export const canChooseSpeaker = 'setSinkId' in HTMLMediaElement.prototype;

const all = signal<readonly MediaDeviceInfo[]>([]);

/** Names and ids are empty before the user allows a device. */
export async function updateDevices(): Promise<void> {
  all.value = (await mediaDevices?.enumerateDevices().catch(() => undefined)) ?? [];
}
mediaDevices?.addEventListener('devicechange', updateDevices);

export interface Device {
  readonly id: string;
  readonly name: string;
}

/** Chromium lists the default device a second time under these ids. */
const ALIASES = ['', 'default', 'communications'];

const listOf = (kind: DeviceKind, name: string) =>
  computed<readonly Device[]>(() =>
    all.value
      .filter((each) => each.kind === kind && !ALIASES.includes(each.deviceId))
      .map(({ deviceId, label }, index) => ({ id: deviceId, name: label || texts.devices.unnamed(name, index + 1) })),
  );

export const devices = {
  videoinput: listOf('videoinput', texts.devices.camera),
  audioinput: listOf('audioinput', texts.devices.microphone),
  audiooutput: listOf('audiooutput', texts.devices.speaker),
} as const;

/** The chosen device, if it is plugged in. */
export function chosenDevice(kind: DeviceKind): string | undefined {
  const id = preferences.value.chosen[kind];
  return all.value.length === 0 || all.value.some((each) => each.deviceId === id) ? id : undefined;
}

export function chooseDevice(kind: DeviceKind, id: string | undefined): void {
  const { [kind]: _, ...others } = preferences.value.chosen;
  changePreferences({ chosen: id === undefined ? others : { ...others, [kind]: id } });
}
