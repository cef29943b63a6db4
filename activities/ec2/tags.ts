/** The tags that every instance of ours carries from its launch on. */
export const TAGS = {
  agent: 'keelson:agent',
  client: 'keelson:client',
  replica: 'keelson:replica',
  epoch: 'keelson:epoch',
  operation: 'keelson:operation',
} as const;
