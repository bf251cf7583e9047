import { inBrowser, startBrowser } from '@fairlead/edge/testing';
import { type AuthorizationServer, startAuthorizationServer } from '../testing/authorization-server';
import { TestService } from '../testing/service';

let service: TestService | undefined;
let server: AuthorizationServer | undefined;

afterAll(async () => {
  await server?.stop();
  await service?.stop();
});

inBrowser('a browser', () => {
  it('lets a person sign in and gives the agent the token', async () => {
    service = await TestService.start();
    const client = {
      client_id: 'browser',
      client_secret: 'a secret',
      token_endpoint_auth_method: 'client_secret_basic',
    };
    const provider = {
      ...{ ...client, provider_id: 'files', name: 'Ada & Files <3', uses_pkce: true },
      ...{ auth_url: 'https://login.example/auth', token_url: 'https://login.example/token' },
    };
    const { json: added } = await service.send('POST', '/v2/auth/providers', { body: provider });
    const callback = `${service.url}/v2/auth/callback/${added.id}`;
    server = await startAuthorizationServer([{ ...client, redirect_uris: [callback] }]);
    const found = {
      ...{ auth_url: `${server.url}/auth`, token_url: `${server.url}/token`, client_secret: client.client_secret },
    };
    expect((await service.send('PATCH', '/v2/auth/providers/files', { body: found })).status).toBe(200);
    const body = { provider: 'files', user_id: 'ada', scopes: ['files:read'] };
    const { url, auth_id } = (await service.send('POST', '/v2/auth/authenticate', { body })).json;
    const waiting = service.send('GET', `/v2/auth/wait/${auth_id}?timeout=60`);

    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      const complaints: string[] = [];
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      await page.goto(url);
      await page.fill('[name=login]', 'ada');
      await page.fill('[name=password]', 'secret');
      await page.click('form:has([value=login]) [type=submit]');
      await page.click('form:has([value=consent]) [type=submit]');
      await page.waitForURL(`${callback}**`);
      expect(await page.textContent('h1')).toBe('Signed in');
      expect(await page.textContent('p')).toBe('Ada & Files <3 is connected. You can close this window.');
      await page.reload();
      expect(await page.textContent('h1')).toBe('Not signed in');
      expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
    } finally {
      await browser.close();
    }

    expect((await waiting).json).toMatchObject({ status: 'completed', token: expect.any(String) });
    expect((await service.send('POST', '/v2/auth/authenticate', { body })).json.status).toBe('completed');
  });
});
