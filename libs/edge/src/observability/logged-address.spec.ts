import { loggedAddress } from './logged-address';

it.each([
  ['/v2/deployments', '/v2/deployments'],
  ['/v2/deployments?limit=20&offset=-1', '/v2/deployments?limit=20&offset=-1'],
  ['/a?at=2026-01-01T12:00:00Z&wait=true', '/a?at=2026-01-01T12:00:00Z&wait=true'],
  ['/a?hunter2=', '/a?[redacted]='],
  ['/a?hunter2=1', '/a?[redacted]=[redacted]'],
  ['/a?=', '/a?[redacted]='],
  ['/a?id=12345678-1234-5678-1234-567812345678', '/a?id=12345678-1234-5678-1234-567812345678'],
  ['/a?name=hunter2', '/a?name=[redacted]'],
  ['/a?expires=1767225600&signature=12345', '/a?expires=1767225600&signature=[redacted]'],
  ['/a?st%61te=12345678-1234-5678-1234-567812345678', '/a?[redacted]=[redacted]'],
  ['/a?code=123456&x-api-key=1', '/a?code=[redacted]&x-api-key=[redacted]'],
  ['/a?%zz=1', '/a?[redacted]=[redacted]'],
  ['/a?hunter2', '/a?[redacted]'],
  ['/a?a=1=hunter2', '/a?a=[redacted]'],
  ['/api-key/fl_0123456789abcdefghijkl_0123456789', '/api-key/[redacted]'],
  ['/api/v1/public/12345678-1234-5678-1234-567812345678/run', '/api/v1/public/[redacted]/run'],
  ['/v2/public/12345678-1234-5678-1234-567812345678/runs/query', '/v2/public/[redacted]/runs/query'],
  ['/public/12345678-1234-5678-1234-567812345678/r', '/public/[redacted]/r'],
])('%s is logged as %s', (url, logged) => {
  expect(loggedAddress(url)).toBe(logged);
});

it('is cut when it is long', () => {
  expect(loggedAddress(`/${'x'.repeat(5000)}?${'a=1&'.repeat(5000)}`).length).toBeLessThan(1100);
});
