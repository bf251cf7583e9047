import { AggregateCommands, EventStore } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { type Token, tokenAggregate, type TokenEvent } from '../oauth/token';

/** Finds and changes the tokens of a tenant. */
@Injectable()
export class TokenCommands extends AggregateCommands<Token, TokenEvent> {
  constructor(store: EventStore) {
    super(store, tokenAggregate);
  }
}
