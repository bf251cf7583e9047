/** Of Fairlead: what it says of itself to clients and operators. */
export const VERSION = '0.1.0';
