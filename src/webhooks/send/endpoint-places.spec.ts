import { describe, expect, it } from '@jest/globals';
import { EndpointPlaces } from './endpoint-places.js';

const PLACES = 2;

describe('a test of an endpoint', () => {
  it('takes a place, and finds none while requests in flight use all', async () => {
    const places = new EndpointPlaces();
    const release = places.take('endpoint', 'deliveries');
    expect(await places.takeForTest('endpoint', PLACES)).not.toBeNull();
    expect(await places.takeForTest('endpoint', PLACES)).toBeNull();
    release();
    expect(await places.takeForTest('endpoint', PLACES)).not.toBeNull();
  });

  it.each([
    ['finds no delivery', 0, true],
    ['finds a delivery for one of the places', 1, true],
    ['finds deliveries for all places', 2, false],
  ])('waits while a query reserves all places, which %s', async (_, found, isTaken) => {
    const places = new EndpointPlaces();
    const release = places.take('endpoint', 'reserved', PLACES);
    const test = places.takeForTest('endpoint', PLACES);
    for (let index = 0; index < found; index++) places.take('endpoint', 'deliveries');
    release();
    expect((await test) !== null).toBe(isTaken);
  });
});
