import { BadRequest } from '@fairlead/schema';

/** An authorisation that cannot be finished: its state is unknown, used or too old, or the provider said no. */
export class AuthorizationRefused extends BadRequest {}
