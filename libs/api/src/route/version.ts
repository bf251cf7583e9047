/** Version of Fairlead, as clients and operators see it. */
export const VERSION = '0.1.0';
