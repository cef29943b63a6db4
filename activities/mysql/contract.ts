/** Which instance is to be the PRIMARY, and which epoch the caller has seen. */
export interface Promotion {
  readonly agentId: string;
  readonly instanceId: string;
  readonly expectedEpoch: number;
}

/** All that workflows may ask of the database of the spot agents. */
export interface MysqlActivities {
  /**
   * Makes an instance the PRIMARY of its agent by the stored procedure, which compares and raises the epoch. A
   * repetition finds the instance PRIMARY at exactly the epoch after the expected one, and that is success.
   */
  promoteSpotInstance(
    promotion: Promotion,
  ): Promise<{ readonly epoch: number; readonly repeated: boolean; readonly seconds: number }>;
}
