// The health check of the image: ends with 0 when the process in it is ready.
const { PORT = '4600' } = process.env;
const ready = await fetch(`http://127.0.0.1:${PORT}/health/ready`).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(ready ? 0 : 1);
