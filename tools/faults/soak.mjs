// `npm run test:soak`: one workspace attacks the service in every way that the limits allow while another one works.
// SOAK_MINUTES says for how long (60 by default). What it measures is in .cache/faults.txt afterwards.
process.env.FAIRLEAD_SOAK_MINUTES = process.env.SOAK_MINUTES ?? '60';
process.argv.splice(2, Infinity, 'soak');
await import('./faults.mjs');
