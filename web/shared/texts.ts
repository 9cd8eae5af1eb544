/** Texts that several pages show. */

export const texts = {
  unreachable: 'The service is not reachable. Check that it is running and that you are online.',
  unexpected: 'Something went wrong on this page. Reload it.',
  responded: (status: number) => `The service responded with status ${status}.`,
} as const;
