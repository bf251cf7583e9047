import { FIRST_UPLOAD as ofTheBanner } from '../../../../../libs/service/src/first-upload';
import { FIRST_UPLOAD } from './first-upload.body';

it('offers the upload that npm start offers', () => {
  expect(FIRST_UPLOAD).toEqual(ofTheBanner);
});
