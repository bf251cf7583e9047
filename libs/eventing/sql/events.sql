create table events (
  "position" bigint primary key,
  stream text not null,
  version int not null,
  id uuid not null unique,
  type text not null,
  data json not null,
  metadata json not null,
  "time" timestamptz not null,
  unique (stream, version)
);

-- How far each follower has come. The row's lock elects the leader among replicas.
create table checkpoints (
  name text primary key,
  "position" bigint not null
);

-- The last event of a subject that a consumer has dealt with: its effects happen once.
create table inbox (
  consumer text not null,
  subject text not null,
  sequence int not null,
  primary key (consumer, subject)
);
