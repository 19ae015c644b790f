/** The shop takes orders, and writes them to the topic. */
export const backends = ['shop'] as const;
