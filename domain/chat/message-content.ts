/** What somebody says, taken by itself. */
import { isVisible } from '../shared/index.js';
import type { MessageContent } from './events/messages.js';

/** What is said by something that carries more. */
export const contentOf = ({ content, attachments, images, mentions, botName }: MessageContent): MessageContent => ({
  content,
  attachments,
  images,
  mentions,
  ...(botName !== undefined && { botName }),
});

export const isEmpty = ({ content, attachments, images }: MessageContent): boolean =>
  !isVisible(content) && attachments.length === 0 && images.length === 0;

/** Of what is JSON, written alike. */
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
