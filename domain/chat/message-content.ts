/** Message content: extraction, emptiness and equality. */
import { isVisible } from '../shared/index.js';
import type { MessageContent } from './events/messages.js';

/** Extracts the content from an object with more members. */
export const contentOf = ({ content, attachments, images, mentions, botName }: MessageContent): MessageContent => ({
  content,
  attachments,
  images,
  mentions,
  ...(botName !== undefined && { botName }),
});

export const isEmpty = ({ content, attachments, images }: MessageContent): boolean =>
  !isVisible(content) && attachments.length === 0 && images.length === 0;

/** Compares JSON with equal member order. */
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
