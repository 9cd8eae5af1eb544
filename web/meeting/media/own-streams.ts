/** Streams of our own camera, for the preview and our tile. */
import { computed } from '@preact/signals';
import { camera } from './input.js';

export const ownCamera = computed(() => camera.track.value && new MediaStream([camera.track.value]));
