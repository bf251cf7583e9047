// Loaded before the service: every question about a name goes to a name server that never answers.
const dns = require('node:dns');

const { Resolver } = dns.promises;
dns.promises.Resolver = class extends Resolver {
  constructor(options) {
    super(options);
    this.setServers([process.env.SILENT_DNS]);
  }
};
