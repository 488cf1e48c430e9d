import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../setup/test-app.js';

describe('the service', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());

  it('is live and ready', async () => {
    const answers = await Promise.all(
      ['live', 'ready'].map((what) => fetch(`${service.url}/health/${what}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });
});
