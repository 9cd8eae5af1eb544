/** A short sound, to find out which speaker plays it. */
import { canChooseSpeaker, chosenDevice } from '../media/devices.js';

const RATE = 22_050;
const SECONDS = 0.6;
/** Hz, one after the other. */
const TONES = [523, 659];

/** Two soft tones as a WAV file. */
function wave(): Blob {
  const count = Math.round(RATE * SECONDS);
  const view = new DataView(new ArrayBuffer(44 + 2 * count));
  const text = (at: number, value: string) =>
    [...value].forEach((letter, index) => {
      view.setUint8(at + index, letter.charCodeAt(0));
    });
  text(0, 'RIFF');
  view.setUint32(4, 36 + 2 * count, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, 2 * RATE, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, 2 * count, true);
  for (let index = 0; index < count; index++) {
    const part = (index / count) * TONES.length;
    const tone = TONES[Math.floor(part)] ?? 0;
    const envelope = Math.sin(Math.PI * (part % 1));
    view.setInt16(44 + 2 * index, 8000 * envelope * Math.sin((2 * Math.PI * tone * index) / RATE), true);
  }
  return new Blob([view], { type: 'audio/wav' });
}

export async function playTestSound(): Promise<void> {
  const url = URL.createObjectURL(wave());
  const audio = new Audio(url);
  audio.onended = () => URL.revokeObjectURL(url);
  if (canChooseSpeaker) await audio.setSinkId(chosenDevice('audiooutput') ?? '').catch(() => {});
  await audio.play().catch(() => {});
}
