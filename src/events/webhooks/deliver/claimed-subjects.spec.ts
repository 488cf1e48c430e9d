import { describe, expect, it } from '@jest/globals';
import { SubjectsInHand } from './claimed-subjects.rules.js';

const of = (subject: string, ...positions: number[]) =>
  positions.map((position) => ({ subject, position: String(position) }));

function handOf(...deliveries: ReturnType<typeof of>) {
  const hand = new SubjectsInHand<(typeof deliveries)[number]>();
  hand.add(deliveries);
  return hand;
}
const names = ({ subject, position }: { subject: string; position: string }) => `${subject}${position}`;

describe('subjects in hand', () => {
  it('sends one of each subject at a time, those of a subject in order', () => {
    const hand = handOf(...of('a', 1, 3), ...of('b', 2));
    const [a1, b2] = [hand.takeNext()!, hand.takeNext()!];
    expect([names(a1), names(b2), hand.takeNext()]).toEqual(['a1', 'b2', undefined]);
    expect([hand.sendingCount, hand.readyCount]).toEqual([2, 0]);
    hand.settle(a1, true);
    expect(names(hand.takeNext()!)).toBe('a3');
  });

  it('puts a subject down whose first could not be sent', () => {
    const hand = handOf(...of('a', 1, 3));
    hand.settle(hand.takeNext()!, false);
    expect(hand.takeNext()).toBeUndefined();
  });

  it('keeps a subject until what became of it is written', () => {
    const hand = handOf(...of('a', 1));
    const a1 = hand.takeNext()!;
    hand.settle(a1, true);
    expect(hand.reach()).toEqual({ subjects: ['a'], positions: ['1'] });
    hand.forget(a1);
    expect(hand.reach()).toEqual({ subjects: [], positions: [] });
  });

  it('says how far each subject is in hand', () => {
    const hand = handOf(...of('a', 1, 3), ...of('b', 2, 4));
    hand.settle(hand.takeNext()!, true);
    expect(hand.reach()).toEqual({ subjects: ['b', 'a'], positions: ['4', '3'] });
  });

  it('puts down all but what is being sent', () => {
    const hand = handOf(...of('a', 1, 3), ...of('b', 2));
    const a1 = hand.takeNext()!;
    hand.putDown();
    expect(hand.reach()).toEqual({ subjects: ['a'], positions: ['1'] });
    hand.settle(a1, true);
    expect(hand.takeNext()).toBeUndefined();
  });
});
