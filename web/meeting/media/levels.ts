/** How loud each participant is, measured in this browser ten times a second, and who of them speaks. */
import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { microphone } from './input.js';
import { nextSpeakers, type Speakers, silence } from './speakers.js';

const EVERY_MS = 100;

const levels = new Map<string, Signal<number>>();

/** Loudness from 0 to 1, as a signal of its own for each participant: it changes often. */
export function levelOf(id: string): ReadonlySignal<number> {
  return levelSignal(id);
}

function levelSignal(id: string): Signal<number> {
  const existing = levels.get(id);
  if (existing) return existing;
  const created = signal(0);
  levels.set(id, created);
  return created;
}

/** Loudness of our microphone, 0 while it is muted. */
export const ownLevel = signal(0);

const speakers = signal<Speakers>(silence);
/** Ids of all who speak. */
export const speaking = computed(() => speakers.value.speaking);
/** Who speaks, or spoke last; never ourselves. */
export const currentSpeaker = computed(() => speakers.value.current);

let context: AudioContext | undefined;
let analyser: AnalyserNode | undefined;

// Follows the open microphone.
effect(() => {
  const track = microphone.track.value;
  analyser?.disconnect();
  analyser = undefined;
  if (!track || typeof AudioContext === 'undefined') return;
  context ??= new AudioContext();
  const source = context.createMediaStreamSource(new MediaStream([track]));
  analyser = context.createAnalyser();
  analyser.fftSize = 512;
  source.connect(analyser);
});

// Browsers start it after the first click or key.
for (const type of ['pointerdown', 'keydown']) addEventListener(type, () => void context?.resume(), { passive: true });

const samples = new Float32Array(512);

/** Root mean square of the last 10 ms. */
function measureMicrophone(): number {
  if (!analyser || !microphone.track.value?.enabled) return 0;
  analyser.getFloatTimeDomainData(samples);
  let sum = 0;
  for (const each of samples) sum += each * each;
  return Math.sqrt(sum / samples.length);
}

/** Square root, as loudness is perceived; 1 is loud speech. */
const loudness = (level: number) => Math.min(1, Math.sqrt(level) * 2);

setInterval(() => {
  ownLevel.value = round(loudness(measureMicrophone()));
}, EVERY_MS);

/** Steps that the eye can tell apart, so that silence changes nothing. */
const round = (level: number) => Math.round(level * 20) / 20;

/** Measures until the returned function is called. `others`: current participants with the levels of their audio. */
export function startMeasuring(me: () => string | undefined, others: () => ReadonlyMap<string, number>): () => void {
  const timer = setInterval(() => {
    const all = new Map([...others()].map(([id, level]) => [id, round(loudness(level))]));
    const own = me();
    if (own !== undefined) all.set(own, ownLevel.value);
    for (const [id, level] of all) levelSignal(id).value = level;
    for (const id of levels.keys()) if (!all.has(id)) levels.delete(id);
    speakers.value = nextSpeakers(speakers.value, all, own, Date.now());
  }, EVERY_MS);
  return () => {
    clearInterval(timer);
    levels.clear();
    speakers.value = silence;
  };
}
