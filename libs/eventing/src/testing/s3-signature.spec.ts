import { signedHeaders } from './s3-signature';

/** The credentials, requests and signatures of the examples that Amazon publishes for Signature Version 4. */
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const TIME = new Date('2013-05-24T00:00:00Z');
const HOST = 'https://examplebucket.s3.amazonaws.com';

const signatureOf = (request: Parameters<typeof signedHeaders>[0]) =>
  signedHeaders(request, CREDENTIALS, TIME).authorization!.split('Signature=')[1];

it('signs a PUT as the published example does', () => {
  const headers = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' };
  const url = new URL(`${HOST}/test$file.text`);
  expect(signatureOf({ method: 'PUT', url, headers, body: 'Welcome to Amazon S3.' })).toBe(
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  );
});

it('signs a GET with a query as the published examples do', () => {
  const get = (query: string) => ({ method: 'GET', url: new URL(`${HOST}/?${query}`), headers: {}, body: '' });
  expect(signatureOf(get('lifecycle'))).toBe('fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543');
  expect(signatureOf(get('max-keys=2&prefix=J'))).toBe(
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  );
});
